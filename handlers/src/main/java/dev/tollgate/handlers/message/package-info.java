/**
 * The function that passes clients' messages to the application and sends the application's
 * replies. May import core, message and handlers.
 */
@NullMarked
package dev.tollgate.handlers.message;

import org.jspecify.annotations.NullMarked;
