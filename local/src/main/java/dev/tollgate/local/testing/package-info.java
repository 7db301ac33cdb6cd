/**
 * What tests of a synthesized stack use: a JUnit extension that starts a local cloud, and a clock
 * that tests move. The rest of {@code local} imports nothing from here.
 */
@NullMarked
package dev.tollgate.local.testing;

import org.jspecify.annotations.NullMarked;
