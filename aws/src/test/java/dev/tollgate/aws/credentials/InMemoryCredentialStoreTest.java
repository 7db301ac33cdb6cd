package dev.tollgate.aws.credentials;

class InMemoryCredentialStoreTest extends CredentialStoreContract {
  private final CredentialStore store = new InMemoryCredentialStore();

  @Override
  CredentialStore store() {
    return store;
  }
}
