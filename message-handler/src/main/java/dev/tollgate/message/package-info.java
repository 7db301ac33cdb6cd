/** The interface that an application implements to handle messages. Import only the JDK here. */
@NullMarked
package dev.tollgate.message;

import org.jspecify.annotations.NullMarked;
