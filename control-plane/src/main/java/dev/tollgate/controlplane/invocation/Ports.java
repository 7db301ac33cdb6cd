package dev.tollgate.controlplane.invocation;

import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.CredentialsPolicy;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tiers;
import java.util.Optional;

/**
 * The ports of the control plane: rows, queues, schedules, functions and sockets.
 *
 * @param rollOutBuckets {@code buckets} for roll-outs, with one role for all tenants; lists and
 *     replaces
 * @param windows present only in the function that answers operators
 * @param credentialsPolicy present only if functions share credentials
 */
public record Ports(
    Tenants tenants,
    Tiers tiers,
    Buckets buckets,
    Buckets rollOutBuckets,
    TokenQueue tokens,
    BucketQueues queues,
    FillSchedules schedules,
    Optional<WindowSchedules> windows,
    Silos silos,
    SiloQueues siloQueues,
    SiloFunctions siloFunctions,
    Sessions sessions,
    Connections connections,
    Activity activity,
    Sockets sockets,
    Optional<CredentialsPolicy> credentialsPolicy) {}
