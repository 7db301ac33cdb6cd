/**
 * The functions that end sessions and repair connection counts. Import core and the parent package
 * here.
 */
@NullMarked
package dev.tollgate.handlers.housekeeping;

import org.jspecify.annotations.NullMarked;
