/** Requests to the APIs of a deployment, their answers and failures. */
@NullMarked
package dev.tollgate.cli.http;

import org.jspecify.annotations.NullMarked;
