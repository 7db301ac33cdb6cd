/** Calls the HTTP APIs of a deployment. Imports no other package of this module. */
@NullMarked
package dev.tollgate.cli.http;

import org.jspecify.annotations.NullMarked;
