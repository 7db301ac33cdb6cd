/** The HTTP endpoint of all AWS APIs: who calls which operation, and the record of the calls. */
@NullMarked
package dev.tollgate.local.endpoint;

import org.jspecify.annotations.NullMarked;
