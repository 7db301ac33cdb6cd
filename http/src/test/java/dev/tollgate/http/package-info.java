@NullMarked
package dev.tollgate.http;

import org.jspecify.annotations.NullMarked;
