"""Descriptions of machines in each cloud's own terms."""

from typing import Any

from rse_study.cluster.kinds.clouds import (
    AwsCluster,
    AzureCluster,
    CloudCluster,
    CloudGroup,
    CloudHead,
    GcpCluster,
    GcpGroup,
)

Described = dict[str, Any]


def provider_of(spec: CloudCluster) -> Described:
    """Return the provider section; ended machines are terminated, never cached."""
    match spec:
        case AwsCluster():
            zone = {"availability_zone": spec.zone} if spec.zone else {}
            where = {"type": "aws", "region": spec.region, **zone}
        case GcpCluster():
            where = {"type": "gcp", "region": spec.region, "availability_zone": spec.zone}
            where |= {"project_id": spec.project}
        case _:
            assert isinstance(spec, AzureCluster)
            where = {"type": "azure", "location": spec.region, "resource_group": spec.resource_group}
            where |= {"availability_zone": spec.zone or "auto"}
    return {**where, "cache_stopped_nodes": False}


def virtual_machine(spec: CloudCluster, machine: CloudHead | CloudGroup, *, is_spot: bool) -> Described:
    """Describe a machine, on demand or spot, in its cloud's own terms."""
    match spec:
        case AwsCluster():
            return _aws(spec, machine, is_spot)
        case GcpCluster():
            return _gcp(spec, machine, is_spot)
    assert isinstance(spec, AzureCluster)
    return _azure(spec, machine, is_spot)


def _aws(spec: AwsCluster, machine: CloudHead | CloudGroup, is_spot: bool) -> Described:
    disk = {"VolumeSize": machine.disk_gb, "VolumeType": "gp3"}
    profile = {"IamInstanceProfile": {"Name": spec.instance_profile}} if spec.instance_profile else {}
    spot = {"InstanceMarketOptions": {"MarketType": "spot"}} if is_spot else {}
    return {
        "InstanceType": machine.instance,
        "ImageId": spec.image,
        "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": disk}],
        "InstanceInitiatedShutdownBehavior": "terminate",  # at its time limit it is terminated, not stopped
        **profile,
        **spot,
    }


def _gcp(spec: GcpCluster, machine: CloudHead | CloudGroup, is_spot: bool) -> Described:
    disk = {"diskSizeGb": machine.disk_gb, "sourceImage": spec.image}
    scheduling: Described = {
        "maxRunDuration": {"seconds": str(round(spec.limits.hours * 3600))},
        "instanceTerminationAction": "DELETE",
    }
    if is_spot:
        scheduling |= {"provisioningModel": "SPOT"}
    if machine.gpus:
        scheduling |= {"onHostMaintenance": "TERMINATE"}
    described: Described = {
        "machineType": machine.instance,
        "disks": [{"boot": True, "autoDelete": True, "type": "PERSISTENT", "initializeParams": disk}],
        "scheduling": scheduling,
    }
    if isinstance(machine, GcpGroup) and machine.accelerator:
        path = f"zones/{spec.zone}/acceleratorTypes/{machine.accelerator}"
        described["guestAccelerators"] = [
            {"acceleratorType": f"projects/{spec.project}/{path}", "acceleratorCount": machine.gpus}
        ]
    if spec.service_account:
        scopes = ["https://www.googleapis.com/auth/cloud-platform"]
        described["serviceAccounts"] = [{"email": spec.service_account, "scopes": scopes}]
    return described


def _azure(spec: AzureCluster, machine: CloudHead | CloudGroup, is_spot: bool) -> Described:
    image = spec.image
    parameters: Described = {
        "vmSize": machine.instance,
        "imagePublisher": image.publisher,
        "imageOffer": image.offer,
        "imageSku": image.sku,
        "imageVersion": image.version,
        "osDiskSize": machine.disk_gb,
    }
    return {"azure_arm_parameters": parameters | ({"priority": "Spot"} if is_spot else {})}
