/** Alarms in CloudWatch. */
package dev.tollgate.aws.cloudwatch;
