/** Ids, errors and results that every package of core uses. May import only the JDK. */
@NullMarked
package dev.tollgate.core;

import org.jspecify.annotations.NullMarked;
