/**
 * The function that passes clients' messages to the application and sends its replies. Import core,
 * message-handler and the parent package here.
 */
@NullMarked
package dev.tollgate.handlers.message;

import org.jspecify.annotations.NullMarked;
