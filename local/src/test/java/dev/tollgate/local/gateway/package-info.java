@NullMarked
package dev.tollgate.local.gateway;

import org.jspecify.annotations.NullMarked;
