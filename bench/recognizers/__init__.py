"""The recognizers beside other libraries that mask tokens."""
