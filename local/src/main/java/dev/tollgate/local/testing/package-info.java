/**
 * What tests of a synthesized stack use: a JUnit extension that starts a local cloud, a clock that
 * tests move, and stand-ins for what surrounds a stack. The rest of {@code local} imports nothing
 * from here.
 */
@NullMarked
package dev.tollgate.local.testing;

import org.jspecify.annotations.NullMarked;
