/** Reads, builds and keeps JSON. Imports nothing else of this module. */
@NullMarked
package dev.tollgate.local.json;

import org.jspecify.annotations.NullMarked;
