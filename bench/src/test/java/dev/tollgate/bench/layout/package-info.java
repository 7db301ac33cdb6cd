/**
 * Checks the packages of all modules, in the module that Maven builds last. Reads class files only.
 */
@NullMarked
package dev.tollgate.bench.layout;

import org.jspecify.annotations.NullMarked;
