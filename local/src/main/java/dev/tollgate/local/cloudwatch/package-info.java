/**
 * CloudWatch: the metrics that alarms watch, and the alarms. Only those metrics are kept, and only
 * for as long as an alarm looks back.
 */
@NullMarked
package dev.tollgate.local.cloudwatch;

import org.jspecify.annotations.NullMarked;
