/**
 * Events, contexts, contracts and random input for tests of functions. Import only test libraries
 * and the Lambda events here.
 */
@NullMarked
package dev.tollgate.http.testing;

import org.jspecify.annotations.NullMarked;
