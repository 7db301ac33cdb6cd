/** Events and a context to test HTTP functions with. */
@NullMarked
package dev.tollgate.http.testing;

import org.jspecify.annotations.NullMarked;
