/** Limiters in other languages: child processes that read and write lines of JSON. */
@NullMarked
package dev.tollgate.lawbook.process;

import org.jspecify.annotations.NullMarked;
