@NullMarked
package dev.tollgate.local.services;

import org.jspecify.annotations.NullMarked;
