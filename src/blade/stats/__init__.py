"""Numbers made from the run tables: pure functions of arrays and tables; no file is read and nothing is printed."""
