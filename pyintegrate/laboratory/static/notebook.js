// The lab as a widget: the kernel makes all numbers.
import { mount } from "./lab.js";

const PATIENCE = 60000; // ms

const ARRAYS = ["t", "y", "ghost", "energy", "ghost_energy", "phase", "distance", "rows", "paths"];

/** The bytes of a run as arrays. */
function unpacked(run) {
  const read = { ...run };
  for (const name of ARRAYS) {
    const bytes = run[name];
    if (bytes === null || bytes === undefined) continue;
    const { buffer, byteOffset, byteLength } = bytes;
    read[name] = new Float64Array(buffer.slice(byteOffset, byteOffset + byteLength));
  }
  return read;
}

const arraysOf = (record) =>
  record.error ? record : { ...record, runs: record.runs.map(unpacked), fan: unpackedFan(record.fan) };

function unpackedFan(fan) {
  if (!fan?.t) return null;
  const { t, rows, paths } = unpacked(fan);
  const made = t.length;
  const apart = (all) => [0, 1, 2, 3, 4].map((i) => all.subarray(i * made, (i + 1) * made));
  return { t, rows: apart(rows), paths: apart(paths), made, method: fan.method };
}

/** Questions to the kernel: each has a number, and the answer brings it back. */
function engineOf(model) {
  let last = 0;
  const answered = (number) => new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      model.off("change:record", look);
      reject(new Error("the kernel does not answer: is it running?"));
    }, PATIENCE);
    function look() {
      const record = model.get("record");
      if ((record.number ?? 0) !== number) return;
      clearTimeout(late);
      model.off("change:record", look);
      resolve(arraysOf(record));
    }
    model.on("change:record", look);
  });
  return {
    about: model.get("about"),
    async run(state) {
      const record = model.get("record");
      if ((state.number ?? 0) === (record.number ?? 0)) return arraysOf(record);
      const answer = answered(state.number);
      if (model.get("state").number !== state.number) { // another view has not sent it already
        model.set("state", state);
        model.save_changes();
      }
      return answer;
    },
    rates(t, y) {
      const number = ++last;
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error("no answer")), PATIENCE);
        function listen(message) {
          if (message.number !== number) return;
          clearTimeout(late);
          model.off("msg:custom", listen);
          resolve(message.rates);
        }
        model.on("msg:custom", listen);
        model.send({ ask: "rates", t, y, number });
      });
    },
  };
}

function render({ model, el }) {
  const engine = engineOf(model);
  const root = document.createElement("div");
  el.append(root);
  const lab = mount(root, engine, model.get("state"));
  // A state that a cell assigns has the number of the newest one, a state of another view a higher
  // number. One with a lower number is the echo of an older state.
  const fromKernel = () => {
    const state = model.get("state");
    if ((state.number ?? 0) < (lab.state.number ?? 0)) return;
    if (JSON.stringify(state) !== JSON.stringify(lab.state)) lab.show(state);
  };
  const again = () => (model.get("record").number ?? 0) === (lab.state.number ?? 0) && lab.refresh();
  model.on("change:state", fromKernel);
  model.on("change:record", again);
  return () => {
    model.off("change:state", fromKernel);
    model.off("change:record", again);
    lab.close();
  };
}

export default { render };
