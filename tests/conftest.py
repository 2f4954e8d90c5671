"""Makes this folder importable: `reference`, `hostile`, `places`, from tests in any folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
