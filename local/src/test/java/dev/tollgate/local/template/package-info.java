@NullMarked
package dev.tollgate.local.template;

import org.jspecify.annotations.NullMarked;
