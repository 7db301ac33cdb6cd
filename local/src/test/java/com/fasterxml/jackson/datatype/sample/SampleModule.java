package com.fasterxml.jackson.datatype.sample;

/** Stands for a module of Jackson, which refers to types of other libraries. */
public final class SampleModule {}
