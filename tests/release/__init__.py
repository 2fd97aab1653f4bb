"""Tests of what a release is made of, on the machines it is for."""
