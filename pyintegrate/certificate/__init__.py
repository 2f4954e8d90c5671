"""The certificate of a method: its properties, proved from its numbers and measured on motions."""
