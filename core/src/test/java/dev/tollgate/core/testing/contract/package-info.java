/**
 * The contract of each port, run by its in-memory and its AWS adapter. May import core, testing and
 * testing.memory.
 */
@NullMarked
package dev.tollgate.core.testing.contract;

import org.jspecify.annotations.NullMarked;
