/** The alarms of a deployment. */
package dev.tollgate.core.alarm;
