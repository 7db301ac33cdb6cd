/** Events of EventBridge. May import core and aws. */
@NullMarked
package dev.tollgate.aws.events;

import org.jspecify.annotations.NullMarked;
