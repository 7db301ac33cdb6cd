package dev.tollgate.e2e.local;

import dev.tollgate.e2e.acceptance.Deployment;

/** Gives the acceptance tests the local deployment that all tests share. */
public final class LocalProvider implements Deployment.Provider {
  @Override
  public Deployment deployment() {
    return LocalDeployment.shared();
  }
}
