/**
 * The shared parts of the HTTP functions: routes, strict JSON, problem documents and cursors. May
 * import core, no other module.
 */
@NullMarked
package dev.tollgate.http;

import org.jspecify.annotations.NullMarked;
