/** Checks the packages of all modules. Reads class files; imports nothing of the product. */
@NullMarked
package dev.tollgate.e2e.layout;

import org.jspecify.annotations.NullMarked;
