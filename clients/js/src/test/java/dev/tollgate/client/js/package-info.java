/** Runs the JavaScript client's tests. */
@NullMarked
package dev.tollgate.client.js;

import org.jspecify.annotations.NullMarked;
