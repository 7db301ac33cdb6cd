@NullMarked
package dev.tollgate.local.resources;

import org.jspecify.annotations.NullMarked;
