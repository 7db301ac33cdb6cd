@NullMarked
package dev.tollgate.local.events;

import org.jspecify.annotations.NullMarked;
