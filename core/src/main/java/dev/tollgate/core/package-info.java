/** Ids, errors and results that every package of core uses. Imports nothing but the JDK. */
@NullMarked
package dev.tollgate.core;

import org.jspecify.annotations.NullMarked;
