@NullMarked
package dev.tollgate.controlplane;

import org.jspecify.annotations.NullMarked;
