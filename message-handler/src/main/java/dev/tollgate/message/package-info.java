/** What an application does with its tenants' messages. */
@NullMarked
package dev.tollgate.message;

import org.jspecify.annotations.NullMarked;
