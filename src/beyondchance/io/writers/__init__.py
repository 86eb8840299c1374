"""Writers: one module for each format, with `composed`, which makes what is written."""
