/** What the HTTP functions share: routes, strict JSON and problem documents. */
@NullMarked
package dev.tollgate.http;

import org.jspecify.annotations.NullMarked;
