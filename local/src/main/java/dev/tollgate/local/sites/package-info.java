/** Which browsers' requests the ports of the local cloud take. */
@NullMarked
package dev.tollgate.local.sites;

import org.jspecify.annotations.NullMarked;
