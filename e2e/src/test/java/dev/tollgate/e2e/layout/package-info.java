/** Checks the packages of all modules by their class files. Imports nothing of the product. */
@NullMarked
package dev.tollgate.e2e.layout;

import org.jspecify.annotations.NullMarked;
