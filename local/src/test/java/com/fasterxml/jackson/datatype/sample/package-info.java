/** A package name of Jackson's modules. */
@NullMarked
package com.fasterxml.jackson.datatype.sample;

import org.jspecify.annotations.NullMarked;
