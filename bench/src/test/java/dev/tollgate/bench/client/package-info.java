@NullMarked
package dev.tollgate.bench.client;

import org.jspecify.annotations.NullMarked;
