/** Requests, documents and previews of the HTTP API. */
@NullMarked
package dev.tollgate.controlplane.api;

import org.jspecify.annotations.NullMarked;
