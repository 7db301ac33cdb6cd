/**
 * What the HTTP functions share: routes, strict JSON, problem documents and cursors. Import core
 * here, no other module.
 */
@NullMarked
package dev.tollgate.http;

import org.jspecify.annotations.NullMarked;
